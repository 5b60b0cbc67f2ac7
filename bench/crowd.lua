-- SPDX-License-Identifier: Apache-2.0
-- For wrk (parts.mjs): each request takes the next line of a file, and the first again after the last. A line
-- is a token, or a token and a JSON body. Without lines all requests are equal.
-- Arguments: method, file, "close" (a new connection for each request) or "keep".
local requests, at = {}, 0

function init(args)
  local method, file, closes = args[1], args[2], args[3] == "close"
  local function add(token, body)
    local headers = {["Connection"] = closes and "close" or "keep-alive"}
    if token then headers["Authorization"] = "Bearer " .. token end
    if body then headers["Content-Type"] = "application/json" end
    requests[#requests + 1] = wrk.format(method, nil, headers, body)
  end
  for line in io.lines(file) do add(line:match("^(%S+) ?(.*)$")) end
  if #requests == 0 then add(nil) end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary)
  local e = summary.errors
  io.write(string.format('\ncrowd {"requests": %d, "seconds": %.6f, "failed": %d}\n', summary.requests, summary.duration / 1e6,
    e.connect + e.read + e.write + e.timeout + e.status))
end
