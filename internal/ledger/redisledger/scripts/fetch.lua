-- KEYS hashes; ARGV for each of them how many fields, then the fields.
-- -> {'OK', values of the first, values of the second, ...}
local answers, at = {'OK'}, 1
for i, key in ipairs(KEYS) do
  local count = tonumber(ARGV[at])
  answers[i + 1] = call('HMGET', key, unpack(ARGV, at + 1, at + count))
  at = at + count + 1
end
return answers
