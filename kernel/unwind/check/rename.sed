# SPDX-License-Identifier: GPL-2.0-only
# Makes unwind_orc.c a part of a module: its functions get the prefix WHICH_, and it uses the tables
# that the kernel's own unwinder has initialized.
/^ORC_HEADER;/d
/^EXPORT_SYMBOL/d
/^static int __init unwind_debug_cmdline/,/^early_param/d
/^static bool orc_init/s/.*/#define orc_init true/
/^static unsigned int lookup_num_blocks/s/.*/#define lookup_num_blocks ((unsigned int)(orc_lookup_end - orc_lookup))/
/^static DEFINE_MUTEX(sort_mutex)/,/^#endif/{
/^#endif/!d
}
/^void __init unwind_init/,/^}/d
s/\bunwind_next_frame\b/WHICH_&/g
s/\bunwind_get_return_address\b/WHICH_&/g
s/\bunwind_get_return_address_ptr\b/WHICH_&/g
s/\b__unwind_start\b/WHICH_&/g
s/\bunwind_module_free\b/WHICH_&/g
