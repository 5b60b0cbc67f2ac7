// SPDX-License-Identifier: Apache-2.0
// All conversations between actors, and the one instantiation of CAF's templates for their messages. Include
// only the conversation that you need: `<name>_messages.hpp` has its messages and its handles.
#pragma once
#include "actors/protocol/accounts_messages.hpp"
#include "actors/protocol/cache_messages.hpp"
#include "actors/protocol/catalog_messages.hpp"
#include "actors/protocol/checkin_messages.hpp"
#include "actors/protocol/cluster_messages.hpp"
#include "actors/protocol/directory_messages.hpp"
#include "actors/protocol/draw_messages.hpp"
#include "actors/protocol/fan_messages.hpp"
#include "actors/protocol/ledger_messages.hpp"
#include "actors/protocol/log_messages.hpp"
#include "actors/protocol/notice_messages.hpp"
#include "actors/protocol/organizer_messages.hpp"
#include "actors/protocol/outbox_messages.hpp"
#include "actors/protocol/payment_messages.hpp"
#include "actors/protocol/region_messages.hpp"
#include "actors/protocol/shared_messages.hpp"
#include "actors/protocol/subscriber_messages.hpp"
#include "actors/protocol/witness_messages.hpp"

#include <caf/detail/tuple_vals.hpp>

// The CAF templates that carry, copy, print and serialize messages are instantiated once, in
// system_config.cpp, instead of in each of about a hundred files.
#define FQ_MESSAGE_TEMPLATES(KEYWORD, T)                                                                     \
  KEYWORD template class caf::detail::tuple_vals_impl<caf::detail::message_data, fq::T>;                     \
  KEYWORD template class caf::detail::tuple_vals_impl<caf::type_erased_tuple, fq::T>;                        \
  KEYWORD template class caf::detail::tuple_vals<fq::T>;                                                     \
  KEYWORD template class caf::detail::type_erased_value_impl<fq::T>;
#define FQ_ELSEWHERE(T) FQ_MESSAGE_TEMPLATES(extern, T)
FQ_MESSAGES(FQ_ELSEWHERE)
#undef FQ_ELSEWHERE
