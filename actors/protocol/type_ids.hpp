// SPDX-License-Identifier: Apache-2.0
// CAF's type ids of all messages: the wire names of their types. The event handle, which travels, is one of
// them.
#pragma once
#include "actors/protocol/event_handle.hpp"

#include <caf/type_id.hpp>

#define FQ_MESSAGES(X) FQ_MESSAGES_BEFORE_EVENT_HANDLE(X) X(event_handle) FQ_MESSAGES_AFTER_EVENT_HANDLE(X)

#define FQ_ADD_TYPE_ID(T) CAF_ADD_TYPE_ID(fairqueue, (fq::T))
CAF_BEGIN_TYPE_ID_BLOCK(fairqueue, first_custom_type_id)
FQ_MESSAGES(FQ_ADD_TYPE_ID)
CAF_END_TYPE_ID_BLOCK(fairqueue)
#undef FQ_ADD_TYPE_ID
