// SPDX-License-Identifier: Apache-2.0
// The Lua scripts of redis_cache.cpp. Redis runs each of them as one atomic step on a mirror.
#pragma once

#include <string_view>

namespace fq {

// With the shebang, a server that accepts no writes (replica, out of memory) refuses the script before its
// first command.
inline constexpr std::string_view apply_source = R"lua(#!lua
-- Applies one chunk of a step. Returns 1, or 0 if the mirror is not at this step and part.
-- KEYS: head, waiting, active, inventory.
-- ARGV 1 to 3: generation, step and part before this chunk.
-- ARGV 4 to 6: step, part and ready after this chunk.
-- ARGV 7: prefix of the session keys.
-- ARGV 8 to 12: number of elements in each of the lists that follow, in this order:
--   entries that join the line (rank, queue number); queue numbers that leave it;
--   sessions (entry id, value, end, life in ms); entry ids of ended sessions;
--   inventory (ticket type, counters).
-- A chunk is small enough for unpack.
local head, waiting, active, inventory = unpack(KEYS)
local generation, step, part = ARGV[1], ARGV[2], ARGV[3]
local session_keys = ARGV[7]
local joined, left, sessions = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ended, stock = tonumber(ARGV[11]), tonumber(ARGV[12])
local at = 12

if step == '0' and part == '0' then
  -- The caller has just removed the head. An existing head means that another caller has started a
  -- mirror, or that this call is late.
  if redis.call('EXISTS', head) == 1 then return 0 end
  redis.call('UNLINK', waiting, active, inventory)
else
  local now = redis.pcall('HMGET', head, 'generation', 'steps', 'part')
  if now[1] ~= generation or now[2] ~= step or now[3] ~= part then return 0 end
end

if joined > 0 then
  redis.call('ZADD', waiting, unpack(ARGV, at + 1, at + 2 * joined))
  at = at + 2 * joined
end
if left > 0 then
  redis.call('ZREM', waiting, unpack(ARGV, at + 1, at + left))
  at = at + left
end
if sessions > 0 then
  local scored = {}
  for i = 1, sessions do
    local id, value, ends, life = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
    scored[2 * i - 1], scored[2 * i] = ends, id
    redis.call('SET', session_keys .. id, value, 'PX', life)
    at = at + 4
  end
  redis.call('ZADD', active, unpack(scored))
end
if ended > 0 then
  local keys = {}
  for i = 1, ended do keys[i] = session_keys .. ARGV[at + i] end
  redis.call('UNLINK', unpack(keys))
  redis.call('ZREM', active, unpack(ARGV, at + 1, at + ended))
  at = at + ended
end
if stock > 0 then redis.call('HSET', inventory, unpack(ARGV, at + 1, at + 2 * stock)) end

redis.call('HSET', head, 'generation', generation, 'steps', ARGV[4], 'part', ARGV[5], 'ready', ARGV[6])
-- A mirror expires a day after its last change, because no other code removes the mirrors of ended events.
-- The owner rebuilds a mirror that is still needed.
for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], 86400) end
return 1
)lua";

// allow-oom: the script frees memory.
inline constexpr std::string_view clear_source = R"lua(#!lua flags=allow-oom
-- Removes the mirror that the head names, the head last. Returns the number of removed sessions.
-- KEYS: head, the key that vouches for the mirror.
-- ARGV: key prefix of the queue, max sessions to remove.
local head, most = KEYS[1], tonumber(ARGV[2])
redis.call('UNLINK', KEYS[2])
local generation = redis.pcall('HGET', head, 'generation')
if type(generation) ~= 'string' then
  redis.call('UNLINK', head)
  return 0
end
-- From here on, no step applies to this mirror and no reader accepts it as complete.
redis.call('HDEL', head, 'steps', 'ready')
local keys = ARGV[1] .. generation
redis.call('UNLINK', keys .. ':waiting', keys .. ':inventory')
local popped = redis.pcall('ZPOPMIN', keys .. ':active', most)
local sessions = {}
for i = 1, #popped, 2 do sessions[#sessions + 1] = keys .. ':session:' .. popped[i] end
if #sessions > 0 then redis.call('UNLINK', unpack(sessions)) end
if #sessions < most then redis.call('UNLINK', keys .. ':active', head) end
return #sessions
)lua";

inline constexpr std::string_view vouch_source = R"lua(#!lua
-- Vouches for a complete mirror. Returns 1, or 0 if the mirror is not at this generation and step, or 2 if
-- the call is too late.
-- KEYS: head, the key that vouches for the mirror.
-- ARGV: generation, min steps, end of the value to store, its life in ms, deadline of this call (Unix
-- microseconds).
local now = redis.pcall('HMGET', KEYS[1], 'generation', 'steps', 'part', 'ready')
if now[1] ~= ARGV[1] or tonumber(now[2]) < tonumber(ARGV[2]) then return 0 end
if now[3] ~= '0' or now[4] ~= '1' then return 0 end
local clock = redis.call('TIME')
local word = clock[1] * 1000000 + clock[2]
if word > tonumber(ARGV[5]) then return 2 end
redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. string.format('%.0f', word) .. ' ' .. ARGV[3], 'PX', ARGV[4])
return 1
)lua";

} // namespace fq
