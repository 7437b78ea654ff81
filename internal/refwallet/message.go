package refwallet

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// maxAmount is the largest amount of the platform: 2^53-1.
const maxAmount = 1<<53 - 1

// integer is a number of 64 bits, which the platform writes as a text.
type integer int64

// UnmarshalJSON reads "12" and 12, and nothing else: no fraction, no exponent.
func (n *integer) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseInt(string(bytes.Trim(text, `"`)), 10, 64)
	if err != nil {
		return fmt.Errorf("%.40q is not an integer", text)
	}
	*n = integer(value)
	return nil
}

// MarshalJSON writes a text.
func (n integer) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

type amount struct {
	Currency string  `json:"currency"`
	Amount   integer `json:"amount"`
}

// Settlement is what the wallet reads of a settlement. Fields that it does not
// know are left alone: there may be more one day.
type Settlement struct {
	ID                string  `json:"settlementId"`
	Partition         int     `json:"partition"`
	Sequence          integer `json:"sequence"`
	Player            string  `json:"playerId"`
	Bet               string  `json:"betId"`
	Game              string  `json:"game"`
	Stake             amount  `json:"stake"`
	Payout            amount  `json:"payout"`
	Result            string  `json:"result"`
	SettleTime        string  `json:"settleTime"`
	FencingToken      integer `json:"fencingToken"`
	WalletTransaction string  `json:"walletTransactionId"`
}

// check finds what cannot be booked. Such a settlement is rejected: a person
// has to look, and those behind it go on.
func (s Settlement) check() error {
	switch {
	case s.Player == "":
		return errors.New("no player")
	case s.Stake.Currency == "" || s.Stake.Currency != s.Payout.Currency:
		return errors.New("stake and payout are not of one currency")
	case s.Stake.Amount <= 0 || s.Stake.Amount > maxAmount:
		return errors.New("stake out of range")
	case s.Payout.Amount < 0 || s.Payout.Amount > maxAmount:
		return errors.New("payout out of range")
	}
	switch s.Result {
	case "WON", "LOST":
		return nil
	case "VOID":
		if s.Payout.Amount == s.Stake.Amount {
			return nil
		}
		return errors.New("void, and the payout is not the stake")
	}
	return errors.New("unknown result")
}

// content is what of a settlement must never change.
type content struct {
	player, currency, result string
	stake, payout            int64
}

func (s Settlement) content() content {
	return content{s.Player, s.Stake.Currency, s.Result, int64(s.Stake.Amount), int64(s.Payout.Amount)}
}

type claimRequest struct {
	ClaimID      string `json:"claimId"`
	Consumer     string `json:"consumer"`
	Max          int    `json:"max"`
	LeaseSeconds int    `json:"leaseSeconds"`
}

type settlementPage struct {
	Settlements  []Settlement `json:"settlements"`
	LastSequence integer      `json:"lastSequence"`
}

type acknowledgement struct {
	Settlement        string   `json:"settlementId"`
	FencingToken      *integer `json:"fencingToken,omitempty"`
	WalletTransaction string   `json:"walletTransactionId,omitempty"`
	Result            string   `json:"result"`
	RejectReason      string   `json:"rejectReason,omitempty"`
}

type acknowledgeRequest struct {
	Items []acknowledgement `json:"items"`
}

type acknowledgeAnswer struct {
	Results []struct {
		Settlement string `json:"settlementId"`
		Status     string `json:"status"`
	} `json:"results"`
}

type transferRequest struct {
	ID        string `json:"transferId"`
	Player    string `json:"playerId"`
	Direction string `json:"direction"`
	Money     amount `json:"money"`
}

type transferAnswer struct {
	ID    string `json:"transferId"`
	State string `json:"state"`
}
