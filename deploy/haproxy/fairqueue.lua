-- SPDX-License-Identifier: Apache-2.0
-- Asks FairQueue whether a visitor may enter: `http-request lua.fairqueue <url of /access with queue_id>`. Sets
-- txn.fairqueue to "ok", "wait" or "closed", and txn.fairqueue_reason, _subject, _ticket. Each thread caches answers for
-- a few seconds. Without an answer of FairQueue the result is "closed".

local keep_granted, keep_refused, entries_max = 3, 1, 50000 -- seconds at most; answers kept per thread
local cache, entries = {}, 0

local function remember(token, answer, seconds)
  if entries >= entries_max then cache, entries = {}, 0 end -- a flood of tokens costs questions, not memory
  if cache[token] == nil then entries = entries + 1 end
  answer.until_ = core.now().sec + seconds
  cache[token] = answer
  return answer
end

local function first(headers, name)
  local values = headers and headers[name]
  return values and values[0] or ""
end

-- Time for which FairQueue allows to cache an answer.
local function max_age(headers)
  return tonumber(string.match(first(headers, "cache-control"), "max%-age=(%d+)")) or 0
end

local function ask(url, token)
  local known = cache[token]
  if known ~= nil and core.now().sec < known.until_ then return known end
  local reply = core.httpclient():get({
    url = url .. "&profile=auth_request",
    headers = { ["authorization"] = { "Bearer " .. token } },
    timeout = 2000,
  })
  if reply == nil or reply.status == nil or reply.status == 0 or reply.status >= 500 then
    return { verdict = "closed", reason = "unavailable", subject = "", ticket = "" }
  end
  if reply.status == 200 then
    return remember(token, {
      verdict = "ok",
      reason = "",
      subject = first(reply.headers, "x-fairqueue-subject"),
      ticket = first(reply.headers, "x-fairqueue-ticket"),
    }, math.min(keep_granted, max_age(reply.headers)))
  end
  return remember(token, { verdict = "wait", reason = first(reply.headers, "x-fairqueue-reason"), subject = "", ticket = "" }, keep_refused)
end

core.register_action("fairqueue", { "http-req" }, function(txn, url)
  local token = txn.sf:req_cook("fairqueue_session") or ""
  local answer = { verdict = "wait", reason = "unknown", subject = "", ticket = "" }
  if #token > 0 and #token < 200 then answer = ask(url, token) end
  txn:set_var("txn.fairqueue", answer.verdict)
  txn:set_var("txn.fairqueue_reason", answer.reason)
  txn:set_var("txn.fairqueue_subject", answer.subject)
  txn:set_var("txn.fairqueue_ticket", answer.ticket)
end, 1)
