// SPDX-License-Identifier: GPL-2.0-only
#define ROOM 3
#include "churn.h"
