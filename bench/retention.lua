-- SPDX-License-Identifier: Apache-2.0
-- For wrk (retention.mjs): anonymous joins with the server key in the environment variable KEY.
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")

function done(summary)
  local e = summary.errors
  io.write(string.format('\ncrowd {"requests": %d, "failed": %d}\n', summary.requests, e.connect + e.read + e.write + e.timeout + e.status))
end
