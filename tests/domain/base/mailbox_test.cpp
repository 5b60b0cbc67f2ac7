// SPDX-License-Identifier: Apache-2.0
#define CAF_SUITE mailbox
#include "caf/test/unit_test.hpp"

#include "domain/base/mailbox.hpp"

using fq::mailbox_of;

CAF_TEST(all addresses of a mailbox have one text) {
  for (const auto* same : {"ada.love@gmail.com", "a.d.a.love+fan@gmail.com", "adalove@googlemail.com"})
    CAF_CHECK_EQUAL(mailbox_of(same), "adalove@gmail.com");
  CAF_CHECK_EQUAL(mailbox_of("ada.love+x+y@outlook.com"), "ada.love@outlook.com");
  CAF_CHECK_EQUAL(mailbox_of("ada-love_@proton.me"), "adalove@proton.me");
}

CAF_TEST(addresses of other providers stay as they are) {
  for (const auto* as_it_is :
       {"ada.love+fan@example.com", "ada@gmail.com.example", "+@gmail.com", "no address"})
    CAF_CHECK_EQUAL(mailbox_of(as_it_is), as_it_is);
}
