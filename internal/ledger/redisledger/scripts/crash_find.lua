-- KEYS book; ARGV the book, count, or '' and the digest of a bet's id and its
-- first four bytes as a number.
-- -> {'OK', count, record, player's name, table, balances} | NOTFOUND
local book, count, digest, spread = unpack(ARGV)
local kept = call('HMGET', KEYS[1], 'u', 'g', 'n')
local name, t, counts = kept[1], kept[2], units(kept[3] or nil)
if not name or not t or not counts then return {'NOTFOUND'} end
count = tonumber(count) or find_bet(book, counts, digest, tonumber(spread))
local record = count and read_bet(book, count)
if not record then return {'NOTFOUND'} end
return {'OK', int(count), record, name, t, call('HGETALL', tag .. ':u:' .. name)}
