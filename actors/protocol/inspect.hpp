// SPDX-License-Identifier: Apache-2.0
// FQ_INSPECT writes the `inspect` of a message: CAF copies, prints and serializes these members in this
// order.
#pragma once
#include <caf/meta/type_name.hpp>

#define FQ_INSPECT(type, ...)                                                                                \
  template <class Inspector>                                                                                 \
  typename Inspector::result_type inspect(Inspector& f, type& x) {                                           \
    return f(caf::meta::type_name(#type), __VA_ARGS__);                                                      \
  }

#define FQ_INSPECT_EMPTY(type)                                                                               \
  template <class Inspector>                                                                                 \
  typename Inspector::result_type inspect(Inspector& f, type&) {                                             \
    return f(caf::meta::type_name(#type));                                                                   \
  }
