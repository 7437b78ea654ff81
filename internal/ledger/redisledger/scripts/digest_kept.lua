-- KEYS a digest; ARGV nothing to read it, or the digest and when it goes, in ms.
-- -> {'OK', digest or ''}
if ARGV[1] then call('SET', KEYS[1], ARGV[1], 'PXAT', ARGV[2]) end
return {'OK', call('GET', KEYS[1]) or ''}
