// SPDX-License-Identifier: Apache-2.0
#include "actors/protocol/system_config.hpp"

#include "actors/protocol/protocol.hpp"

#define FQ_HERE(T) FQ_MESSAGE_TEMPLATES(, T)
FQ_MESSAGES(FQ_HERE)

namespace fq {

system_config::system_config() { add_message_types<caf::id_block::fairqueue>(); }

} // namespace fq
