-- SPDX-License-Identifier: Apache-2.0
-- For wrk: every connection is opened, and a second later all send one checkout each. Argument: a file of lines "token body".
local checkouts, calls, delays = {}, 0, 0

function init(args)
  for line in io.lines(args[1]) do
    local token, body = line:match("^(%S+) (.*)$")
    checkouts[#checkouts + 1] = wrk.format("POST", "/checkout", {["Authorization"] = "Bearer " .. token, ["Content-Type"] = "application/json"}, body)
  end
end

-- Milliseconds until a connection sends: once, then not within this run.
function delay()
  delays = delays + 1
  return delays <= #checkouts and 1000 or 60000
end

-- wrk asks once before the run, to look at what it gets.
function request()
  calls = calls + 1
  return checkouts[calls == 1 and 1 or calls - 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\n{"answers": %d, "p50": %.1f, "p95": %.1f, "p99": %.1f, "broken": %d}\n', summary.requests, latency:percentile(50) / 1000,
    latency:percentile(95) / 1000, latency:percentile(99) / 1000, errors.connect + errors.read + errors.write + errors.timeout))
end
