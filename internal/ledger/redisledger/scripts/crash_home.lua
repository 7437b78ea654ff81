-- Stands between the prelude and the scripts at a table's home, whose keys are
--   :l  lease: e epoch, o owner (empty: given up), a address, c beats, r running round, g its elapsed microseconds
--   :s  newest round: n number, p phase, f fence under which it was opened, o opened, k locked, t started,
--       c crashed (microseconds), b beacon, q when it is published, w its signature, z crash point, m bets,
--       v why it is void, a mask
--   :h:<n/128>  final rounds by n % 128: "phase opened locked started crashed beacon point bets reason", times as
--       microseconds, each but the first as the difference from the one before, '' where there is none
--   :w:<n/128>  signatures of the beacons of final rounds by n % 128
--   :v  runs of skipped rounds by their last number: "first last microseconds reason"
--   :x  <number>:w<currency> reserved worst cases, :s<currency> stakes, :n bets
--   :chain  the chain of the table, :links its sealed links, see crash_chain.lua
--   :i  number of the newest event
--   :e  stream of events: d what the owner published; or the fields of :s after a step, without the mask, with
--       at microseconds, and what: 'phase', or 'crash' for the crash itself, which the phase follows

local function micros()
  local t = call('TIME')
  return string.format('%.0f', t[1] * 1000000 + t[2])
end

local function state_of()
  return show(read(tag .. ':s') or {}), fence() or '', call('GET', tag .. ':i') or '0', micros()
end

local function answer_state() return {'OK', state_of()} end

-- fenced reports whether another has taken the table.
local function fenced(epoch, owner)
  local kept = call('HMGET', tag .. ':l', 'e', 'o')
  return kept[1] ~= epoch or kept[2] ~= owner
end

-- announce appends events, lists of fields, and returns the number of the last.
-- Each life of the store has a series of numbers of its own, 2^32 apart, which
-- the fence picks: numbers that were lost with a life are not given again to
-- other events, and whoever has seen them finds out.
local SERIES = 4294967296
local function announce(events)
  local last = units(call('GET', tag .. ':i') or '0') or 0
  local series = tonumber(fence():sub(1, 5), 16) * SERIES
  if last - last % SERIES ~= series then
    call('DEL', tag .. ':e')
    last = series + last % SERIES
  end
  for _, fields in ipairs(events) do
    last = last + 1
    call('XADD', tag .. ':e', 'MAXLEN', '~', '1000', int(last) .. '-0', unpack(fields))
  end
  call('SET', tag .. ':i', int(last))
  return int(last)
end
