// SPDX-License-Identifier: Apache-2.0
// Customer sign-in by a mailed code, with the limits of the e-mail address; shared by the API and the pages,
// which ask address_limit::code before. Defined in auth_routes.
#pragma once
#include "domain/base/challenge.hpp"
#include "domain/model/language.hpp"
#include "net/bridge/context.hpp"
#include "net/http/http.hpp"

#include <optional>
#include <string>

namespace fq::net {

/// The challenge of a request for a code, if the installation asks for one.
struct code_proof {
  solved_challenge solved = {};
  bool may_work = true; ///< false: a page without a script
};

struct mailed_code {
  std::optional<response> no;
  std::string handle; ///< for this client only: the code is accepted together with it
};
/// `email`: result of read_email or is_email, in lower case. `replaces`: handle of an earlier request, whose
/// code becomes void; may be empty. `mark`: text of a browser mark; may be empty or none. The answer does not
/// reveal whether the address exists. `in`: of the mail.
awaitable<mailed_code> mail_code(context& ctx, const request& rq, std::string email, std::string replaces,
                                 std::string mark, language in, code_proof proof);

struct redeemed_code {
  std::optional<response> no;
  uuid customer;
  std::string mark; ///< a browser mark for the address
  bool was_wrong = false; ///< the code was wrong; false for an unreachable service
};
/// `in`: of the customer's mails from now on; none: as before.
awaitable<redeemed_code> redeem_code(context& ctx, const request& rq, std::string email, std::string code,
                                     std::string handle, std::optional<language> in);

struct account_address {
  std::optional<response> no;
  std::string email; ///< empty: the customer has no account (its token is of `fairqueue token`)
  fq::language language = fq::language::en;
  customer_id buyer =
    {}; ///< of a guest: the customer of the address; nil: it, or the client, has too many guests' orders
};
/// The address that the customer confirmed by signing in. 401 if the customer was erased. While accounts is
/// unavailable only `contact` can be it: the customer's id is a hash of the address. A guest's is `contact`,
/// and takes from the limits of the buyer and of the client's address.
awaitable<account_address> find_account_address(context& ctx, const request& rq, uuid customer,
                                                std::string_view contact);

/// No order was placed: returns what `find_account_address` took.
void give_back_address(context& ctx, const request& rq, const account_address& account);

[[nodiscard]] customer_id make_guest_id(const context& ctx);

} // namespace fq::net
