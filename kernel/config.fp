# SPDX-License-Identifier: GPL-2.0-only
# Merged over config.bpf: kernel stacks are unwound by frame pointers, as in kernels built without
# objtool's tables.  A file system is built as modules, so that stacks have frames of modules.
# CONFIG_UNWINDER_ORC is not set
CONFIG_UNWINDER_FRAME_POINTER=y
CONFIG_EXT4_FS=m
CONFIG_DUMMY=m
CONFIG_VETH=m
CONFIG_NETDEVICES=y
CONFIG_NET_CORE=y
