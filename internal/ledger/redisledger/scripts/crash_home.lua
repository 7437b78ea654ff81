-- Stands between the prelude and the scripts at a table's home, whose keys are
--   :l  lease: e epoch, o owner (empty: given up), a address, c beats, r running round, g its elapsed microseconds
--   :s  newest round: n number, p phase, f fence under which it was opened, o opened, k locked, t started,
--       c crashed (microseconds), b beacon, z crash point, m bets, v why it is void, a mask
--   :h:<n/128>  final rounds by n % 128: "phase opened locked started crashed beacon point bets reason", times as
--       microseconds, each but the first as the difference from the one before, '' where there is none
--   :v  runs of skipped rounds by their last number: "first last microseconds reason"
--   :x  <number>:w<currency> reserved worst cases, :s<currency> stakes, :n bets
--   :chain  the chain of the table, :links its sealed links, see crash_chain.lua
--   :i  number of the newest event, :e stream of events

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
