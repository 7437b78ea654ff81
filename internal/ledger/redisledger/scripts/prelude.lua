-- Stands before every script. KEYS[1] begins with the hash tag of the player's
-- partition, and every other key is made from that tag, so that a script never
-- leaves its slot. A script checks everything before its first write, and
-- answers a refusal as {'WORD', ...}, data that cannot be as {err = 'BROKEN ...'}.

local call = redis.call
local tag = KEYS[1]:sub(1, (KEYS[1]:find('}', 1, true)))

local SEALED = 61              -- bytes of a sealed server seed
local MAX_UNITS = 9007199254740991
local EPOCH = 1577836800000    -- 2020-01-01, in Unix milliseconds

local function broken(what) return {err = 'BROKEN ' .. what} end

-- int writes a whole number in full: tostring turns 1e14 into '1e+14'.
local function int(n) return string.format('%.0f', n) end

-- units reads an amount, nil when it is none: tonumber alone takes 'nan', and
-- no comparison with that is true.
local function units(text)
  return text and text:find('^%d+$') and tonumber(text)
end

-- fence names the life of the store that runs this script. It changes with
-- every restart and promotion, and with them every write may be lost.
local function fence()
  return call('INFO', 'replication'):match('master_replid:(%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x%x)')
end

local function now()
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- read returns a hash as a table, nil when there is none.
local function read(key)
  local flat = call('HGETALL', key)
  if #flat == 0 then return nil end
  local t = {}
  for i = 1, #flat, 2 do t[flat[i]] = flat[i + 1] end
  return t
end

-- show is the inverse of read.
local function show(t)
  local flat, i = {}, 1
  for k, v in pairs(t) do
    flat[i], flat[i + 1], i = k, v, i + 2
  end
  return flat
end

-- pair_key is where the record of a seed pair is:
--   u player, k sealed server seed, s client seed (none: it ended unused),
--   p pair before, q pair announced when it was activated, o open nonces ",5,6,",
--   c created; and once it ended: e why, n nonce of the bet that never came,
--   v revealed, d detail.
local function pair_key(id) return tag .. ':s:' .. id end

-- read_pair adds what the pair's own record does not hold: its id, and, while
-- it is active, the next nonce, which is kept with the player h.
local function read_pair(id, h)
  local p = read(pair_key(id))
  if not p then return nil end
  p.id = id
  if not p.e then p.n = h and h.l == id and h.n end
  return p
end

-- end_pair writes that p ended, and reveals it unless a round of it is open.
local function end_pair(p, cause, ms)
  p.e = cause
  if p.o then
    call('HSET', pair_key(p.id), 'e', cause, 'n', p.n)
  else
    p.v = int(ms)
    call('HSET', pair_key(p.id), 'e', cause, 'n', p.n, 'v', p.v)
  end
end
