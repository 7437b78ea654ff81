-- KEYS outbox.
-- -> {'OK', newest sequence}
return {'OK', call('GET', KEYS[1]) or '0'}
