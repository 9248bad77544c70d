. "$LIVE/lib.sh"
cd "$work" || exit 1
"$STACKONCE" record -v -e syscalls:sys_enter_getppid -d 1 -o x.stk 2>&1 | tail -n 40
"$STACKONCE" record -v -e syscalls:sys_exit_getppid -d 1 -o x.stk 2>&1 | tail -n 40
fail x
