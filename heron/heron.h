// All that a topology's program includes.
#pragma once

#include "heron/api/args.h"
#include "heron/api/component.h"
#include "heron/api/config.h"
#include "heron/api/context.h"
#include "heron/api/errors.h"
#include "heron/api/held_tuple.h"
#include "heron/api/line_reader.h"
#include "heron/api/main.h"
#include "heron/api/message_id.h"
#include "heron/api/output.h"
#include "heron/api/slice.h"
#include "heron/api/split_spaces.h"
#include "heron/api/task_runner.h"
#include "heron/api/topology_builder.h"
#include "heron/api/tuple.h"
#include "heron/api/value.h"
