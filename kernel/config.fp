# SPDX-License-Identifier: GPL-2.0-only
# Merged over config.bpf: kernel stacks are unwound by frame pointers, as on kernels built without
# objtool's tables.  A file system in modules, so that there are frames of modules to walk.
# CONFIG_UNWINDER_ORC is not set
CONFIG_UNWINDER_FRAME_POINTER=y
CONFIG_EXT4_FS=m
CONFIG_DUMMY=m
CONFIG_VETH=m
CONFIG_NETDEVICES=y
CONFIG_NET_CORE=y
