// SPDX-License-Identifier: GPL-2.0-only
#define ROOM 5
#include "churn.h"
