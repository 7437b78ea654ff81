-- Stands between the prelude and every script that reads or writes a round.
-- A record is, in this order: head (state * 64 + what tells bets apart), 5
-- bytes created, 5 settled, 7 payout, and then the content, packed by Go.

local OPEN, SETTLED = 1, 2

local function number5(n)
  local e = n % 256; n = (n - e) / 256
  local d = n % 256; n = (n - d) / 256
  local c = n % 256; n = (n - c) / 256
  local b = n % 256; n = (n - b) / 256
  return string.char(n, b, c, d, e)
end

local function bucket(kind, id, nonce)
  return tag .. ':' .. kind .. ':' .. id .. ':' .. int(math.floor(nonce / 128))
end

local function is_mines(record) return math.floor(record:byte(1) % 64 / 4) == 4 end
local function is_roulette(record) return math.floor(record:byte(1) % 64 / 4) == 3 end
local function state(record) return math.floor(record:byte(1) / 64) end

-- ended begins the record of a round that has ended: its head and creation.
local function ended(record, state, created)
  return string.char(record:byte(1) % 64 + state * 64) .. created
end

-- outbox_end returns where the next settlement goes: its block and the offset
-- within; nil when the counter is none.
local function outbox_end(key)
  local sequence = units(call('GET', key) or '0')
  if not sequence then return nil end
  return key .. ':' .. int(math.floor(sequence / 255)), sequence % 255 * 16
end

-- outbox_place is outbox_end for a script that writes something else first: a
-- block of another type, or that has moved to another node, fails here.
local function outbox_place(key)
  local block, offset = outbox_end(key)
  if block then call('STRLEN', block) end
  return block, offset
end

-- write_slot puts a settlement at its place: slots of 16 bytes, 255 to a block,
-- so that the place of a slot is its sequence. A block is made at its full size,
-- which is allocated exactly. What the counter does not count is no settlement.
local function write_slot(block, offset, slot)
  if offset == 0 then call('SETRANGE', block, 4079, '\0') end
  call('SETRANGE', block, int(offset), slot)
end

-- append_outbox adds a settlement at its place.
local function append_outbox(key, block, offset, slot)
  write_slot(block, offset, slot)
  call('INCR', key)
end

-- read_round returns record, picks and chips; nil when there is none.
local function read_round(id, nonce)
  local field = int(nonce % 128)
  local key = bucket('r', id, nonce)
  local record = call('HGET', key, field)
  if not record then return nil end
  if is_mines(record) then
    return record, call('HGET', key, 'p' .. field) or '', ''
  end
  if is_roulette(record) then
    return record, '', call('HGET', bucket('c', id, nonce), field) or ''
  end
  return record, '', ''
end

-- Every answer with a round has this form.
local function answer(nonce, record, picks, chips, balances, p)
  return {'OK', int(nonce), record, picks, chips, balances, show_pair(p)}
end
