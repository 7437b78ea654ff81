-- One row: what tells these books from others.
CREATE TABLE IF NOT EXISTS identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  id  TEXT NOT NULL
) STRICT;

-- A player's money in one currency, in its smallest unit. A payment from
-- outside is no part of this wallet: a wallet account may be below zero.
CREATE TABLE IF NOT EXISTS accounts (
  player   TEXT NOT NULL,
  currency TEXT NOT NULL,
  wallet   INTEGER NOT NULL DEFAULT 0, -- the player's, here
  transit  INTEGER NOT NULL DEFAULT 0, -- deposits of which nothing is known yet
  game     INTEGER NOT NULL DEFAULT 0, -- the game balance, as far as it is booked
  bookings INTEGER NOT NULL DEFAULT 0, -- settlements in it
  PRIMARY KEY (player, currency)
) STRICT, WITHOUT ROWID;

-- Each settlement once, in the order of booking.
CREATE TABLE IF NOT EXISTS bookings (
  number     INTEGER PRIMARY KEY,
  settlement TEXT NOT NULL UNIQUE,
  partition  INTEGER NOT NULL,
  sequence   INTEGER NOT NULL,
  player     TEXT NOT NULL,
  bet        TEXT NOT NULL,
  game       TEXT NOT NULL,
  currency   TEXT NOT NULL,
  stake      INTEGER NOT NULL,
  payout     INTEGER NOT NULL,
  result     TEXT NOT NULL,
  settled    TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS bookings_player ON bookings (player, number);
CREATE INDEX IF NOT EXISTS bookings_place ON bookings (partition, sequence);

-- What is to be reported to the platform. A row goes when it was.
CREATE TABLE IF NOT EXISTS reports (
  settlement TEXT PRIMARY KEY,
  token      INTEGER NOT NULL, -- fencing token, 0 for none
  reason     TEXT NOT NULL,    -- why it was rejected; empty when it was booked
  waits      INTEGER NOT NULL DEFAULT 0 -- 1: until it is delivered again
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS transfers (
  id        TEXT PRIMARY KEY,
  player    TEXT NOT NULL,
  direction TEXT NOT NULL,
  currency  TEXT NOT NULL,
  amount    INTEGER NOT NULL,
  state     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS transfers_open ON transfers (state) WHERE state IN ('PENDING', 'CANCELLING');

-- The number of each consumer's claim, stored before it is used.
CREATE TABLE IF NOT EXISTS claims (
  consumer TEXT PRIMARY KEY,
  number   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each partition is booked by a reader with a cursor.
CREATE TABLE IF NOT EXISTS cursors (
  partition INTEGER PRIMARY KEY,
  sequence  INTEGER NOT NULL
) STRICT;

-- What a person must look at.
CREATE TABLE IF NOT EXISTS alarms (
  number  INTEGER PRIMARY KEY,
  subject TEXT NOT NULL, -- id of a settlement or transfer
  cause   TEXT NOT NULL,
  UNIQUE (subject, cause)
) STRICT;
