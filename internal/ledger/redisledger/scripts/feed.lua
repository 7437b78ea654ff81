-- Stands between round.lua and the scripts of what wallets read and acknowledge.
-- Beside the outbox, o:, of slots in the order of their sequences there are, made
-- when a wallet first claims, looks for one settlement or acknowledges:
--   q:<operator>          c sequence up to which slots are sorted, t newest token,
--     w sequence up to which none waits for its acknowledgement
--   a:<pair>:<block of 128 nonces>  nonce -> 5 bytes sequence, state * 16 + form
--     of the wallet transaction, the wallet transaction, packed by Go
--   l:<operator>:<player> sequences that nobody claimed yet, a list of 5 bytes each
--     in their order
--   k:<operator>:<player> h sequences that were claimed and are not acknowledged,
--     each 5 bytes and how often, before those of l; n how many of them are leased,
--     under T token, E end in ms, C claim; f claims since the oldest became it, and 256
--     for each that was given back instead of 1; s when one was put back behind later ones that were leased: the next lease sorts h
--   y:<operator>          players with something to claim, by when they are due
--   d:<operator>          dead letters, sequence:reason, by sequence
--   j:<operator>:<claim>  of a claim in this partition: t token, e end in ms, and
--     p<player> what it got of him, as in h

local PENDING, ACKNOWLEDGED, DEAD = 0, 1, 2
local LATER = 'LATER'
local KEPT_MS = 400 * 86400000

local DIGITS = 'abcdefghijklmnopqrstuvwxyz234567'

local function digits8(text, at)
  local a, b, c, d, e = text:byte(at, at + 4)
  local n, out = (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e, ''
  for _ = 1, 8 do
    local digit = n % 32
    n, out = (n - digit) / 32, DIGITS:sub(digit + 1, digit + 1) .. out
  end
  return out
end

-- pair_of returns what slots of one pair share: id, and the player's name.
local pairs_seen = {}
local function pair_of(raw)
  local p = pairs_seen[raw]
  if p then return p end
  local id = digits8(raw, 1) .. digits8(raw, 6)
  p = {id = id, name = call('HGET', pair_key(id), 'u'), blocks = {}}
  pairs_seen[raw] = p
  return p
end

local function nonce_of(slot)
  local a, b, c, d = slot:byte(11, 14)
  return ((a * 256 + b) * 256 + c) * 256 + d
end

local function read5(text, at)
  local a, b, c, d, e = text:byte(at, at + 4)
  return (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e
end

-- read_slots returns the slots after one sequence up to another.
local function read_slots(outbox, after, stop)
  local parts = {}
  while after < stop do
    local block = math.floor(after / 255)
    local upto = math.min(stop, (block + 1) * 255)
    parts[#parts + 1] = call('GETRANGE', outbox .. ':' .. int(block), int((after - block * 255) * 16), int((upto - block * 255) * 16 - 1))
    after = upto
  end
  return table.concat(parts)
end

-- slot_at returns the 14 bytes of a slot that say something.
local blocks = {}
local function slot_at(outbox, sequence)
  local place = (sequence - 1) % 255
  local b = (sequence - 1 - place) / 255
  local text = blocks[b]
  if not text then
    text = call('GET', outbox .. ':' .. int(b)) or ''
    blocks[b] = text
  end
  return text:sub(place * 16 + 1, place * 16 + 14)
end

local function is_of(name, operator) return name and name:sub(1, #operator + 1) == operator .. ':' end

-- find_entry returns what a: has, or should have, of a sorted settlement that a wallet
-- has not booked. Blocks go 400 days after the last acknowledgement in them, and with
-- it what is pending in the same block: then its place is looked for. nil: it was
-- acknowledged, and that is forgotten.
local function find_entry(operator, name, id, nonce)
  local entry = call('HGET', bucket('a', id, nonce), int(nonce % 128))
  if entry then return entry end
  local outbox = tag .. ':o:' .. operator
  local function is_at(sequence)
    local slot = slot_at(outbox, sequence)
    return #slot == 14 and nonce_of(slot) == nonce and pair_of(slot:sub(1, 10)).id == id
  end
  local held = call('HGET', tag .. ':k:' .. name, 'h') or ''
  for at = 1, #held, 6 do
    if is_at(read5(held, at)) then return held:sub(at, at + 4) .. string.char(PENDING) end
  end
  for _, sequence in ipairs(call('LRANGE', tag .. ':l:' .. name, 0, -1)) do
    if is_at(read5(sequence, 1)) then return sequence .. string.char(PENDING) end
  end
  for _, letter in ipairs(call('ZRANGE', tag .. ':d:' .. operator, 0, -1)) do
    local sequence = tonumber(letter:match('^%d+'))
    if is_at(sequence) then return number5(sequence) .. string.char(DEAD * 16) end
  end
end

-- entry_of returns what a: has, or should have, of a settlement; LATER when it is not
-- sorted yet, nil when there is none.
local function entry_of(operator, name, id, nonce)
  local entry = call('HGET', bucket('a', id, nonce), int(nonce % 128))
  if entry then return entry end
  local record = call('HGET', bucket('r', id, nonce), int(nonce % 128))
  if not record or state(record) == OPEN then return nil end
  local at, last = call('HGET', tag .. ':q:' .. operator, 'c') or '0', call('GET', tag .. ':o:' .. operator) or '0'
  if tonumber(at) < tonumber(last) then return LATER end
  return find_entry(operator, name, id, nonce)
end

-- sort_slots gives up to count settlements that are not sorted yet to their
-- players. It returns the sequence up to which they are, and the newest; or
-- nil and what is broken.
local function sort_slots(operator, count)
  local outbox, state = tag .. ':o:' .. operator, tag .. ':q:' .. operator
  local last, at = units(call('GET', outbox) or '0'), units(call('HGET', state, 'c') or '0')
  if not last or not at then return nil, 'outbox' end
  local stop = math.min(last, at + count)
  if at >= stop then return at, last end

  local slots = read_slots(outbox, at, stop)
  if #slots ~= (stop - at) * 16 then return nil, 'outbox is cut off' end
  local found, writes, runs, names = {}, {}, {}, {}
  local high -- 4 of the 5 bytes of the sequence
  for i = 1, #slots, 16 do
    local sequence = at + (i + 15) / 16
    local rest = sequence % 256
    if rest == 0 or i == 1 then high = number5(sequence):sub(1, 4) end
    local p = pair_of(slots:sub(i, i + 9))
    if not p.run then
      if not is_of(p.name, operator) then return nil, 'slot of nobody' end
      p.run = runs[p.name]
      if not p.run then
        p.run = {}
        runs[p.name], found[#found + 1] = p.run, p.name
      end
    end
    local text = high .. string.char(rest)
    p.run[#p.run + 1] = text
    local a, b, c, d = slots:byte(i + 10, i + 13)
    local nonce = ((a * 256 + b) * 256 + c) * 256 + d
    local field = nonce % 128
    local block = (nonce - field) / 128
    local fields = p.blocks[block]
    if not fields then
      fields = {'HSET', bucket('a', p.id, nonce)}
      p.blocks[block], writes[#writes + 1] = fields, fields
    end
    local n, name = #fields, names[field]
    if not name then
      name = field .. ''
      names[field] = name
    end
    fields[n + 1], fields[n + 2] = name, text .. '\0'
  end
  for _, fields in ipairs(writes) do call(unpack(fields)) end
  local ms, due = int(now()), {'ZADD', tag .. ':y:' .. operator, 'NX'}
  for _, name in ipairs(found) do
    call('RPUSH', tag .. ':l:' .. name, unpack(runs[name]))
    due[#due + 1] = ms
    due[#due + 1] = name:sub(#operator + 2)
  end
  call(unpack(due))
  call('HSET', state, 'c', int(stop))
  return stop, last
end

-- delay returns how long a player waits after so many claims, as in f.
local function delay(f, backoff)
  local claims = f % 256 + math.floor(f / 256)
  if claims < 2 then return 0 end
  return math.min(3600000, backoff * 2 ^ (claims - 2))
end
