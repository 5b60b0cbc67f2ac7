// SPDX-License-Identifier: Apache-2.0
// The Lua scripts of redis_cache.cpp: each runs in Redis as one atomic step on a mirror.
#pragma once

#include <string_view>

namespace fq {

// With the shebang a server that accepts no writes (replica, out of memory) refuses the script before it
// starts.
inline constexpr std::string_view apply_source = R"lua(#!lua
-- KEYS: head, waiting, active, inventory.
-- ARGV: generation, step, part, the same two after this chunk, ready; the session keys' common
-- beginning; how many elements of each
-- list; the lists: numbers that join the line, numbers that leave it, sessions (entry id, value, end,
-- life in ms), ids of ended
-- sessions, inventory (ticket type, counters). A chunk is small enough for unpack.
local head, waiting, active, inventory = unpack(KEYS)
local generation, step, part = ARGV[1], ARGV[2], ARGV[3]
local session_keys = ARGV[7]
local joined, left, sessions = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local ended, stock = tonumber(ARGV[11]), tonumber(ARGV[12])
local at = 12

if step == '0' and part == '0' then
  -- The caller has just removed the head: if there is one, somebody else has begun, or this is an old
  -- call that comes late.
  if redis.call('EXISTS', head) == 1 then return 0 end
  redis.call('UNLINK', waiting, active, inventory)
else
  local now = redis.pcall('HMGET', head, 'generation', 'steps', 'part')
  if now[1] ~= generation or now[2] ~= step or now[3] ~= part then return 0 end
end

if joined > 0 then
  local scored = {}
  for i = 1, joined do
    local number = ARGV[at + i]
    scored[2 * i - 1], scored[2 * i] = number, number
  end
  redis.call('ZADD', waiting, unpack(scored))
  at = at + joined
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
-- A day after its last change a mirror goes: nobody else removes those of events that have ended. One
-- that is missed is built anew.
for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], 86400) end
return 1
)lua";

// allow-oom: the script frees memory.
inline constexpr std::string_view clear_source = R"lua(#!lua flags=allow-oom
-- KEYS: head, the key that vouches for it. ARGV: <q>:, sessions to remove at most. Removes what the head
-- leads to, the head last;
-- answers how many sessions it removed.
local head, most = KEYS[1], tonumber(ARGV[2])
redis.call('UNLINK', KEYS[2])
local generation = redis.pcall('HGET', head, 'generation')
if type(generation) ~= 'string' then
  redis.call('UNLINK', head)
  return 0
end
-- from here on no step continues there and nobody finds it complete
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
-- KEYS: head, the key that vouches for it. ARGV: generation, steps, the end of what to keep there, for
-- how many ms, until when (Unix microseconds) it counts. Answers 0 if the mirror is not there, 2 if it is too late.
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
