package evidence

import "bytes"

// mark says where in a round's text the value of a field stands.
type mark struct {
	field      field
	start, end int
}

// template is the form of a round that was read in full: the text between its changing values. A house writes all rounds
// of a game in one form, so that most rounds need only be compared with it, and their values read. A round that fits has
// the same keys, once each, and the same steady values, as the round that the template was made from.
type template struct {
	round    round // the round it was made from, with its steady values
	ofPair   bool  // the steady values are known to be those of the pair
	segments []segment
	end      literal
}

type segment struct {
	literal // what stands before the value
	field   field
	numeric // its limits, when it is a number
}

// maxTemplates is enough for four games in two currencies.
const maxTemplates = 8

// nextRound reads the round at the cursor into d.round.
func (d *decoder) nextRound() {
	for i, t := range d.templates {
		if len(d.ahead) > 0 && d.fits(t) {
			if i > 0 { // the rounds of a game come in runs
				d.templates[0], d.templates[i] = t, d.templates[0]
			}
			d.checkRules()
			return
		}
	}
	start := d.at
	d.plainRound()
	if d.err == nil {
		d.learn(start)
	}
}

// fits reads the round if it has the template's form, else it leaves the cursor where it is. Most values are numbers,
// and those are read here, without the cursor.
func (d *decoder) fits(t *template) bool {
	start := d.at
	if d.round.template != t {
		d.round = t.round
	}
	at := start
	for i := range t.segments {
		s := &t.segments[i]
		if !s.begins(d.ahead[at:]) {
			return d.misfit(start)
		}
		at += len(s.text)
		if s.high > 0 {
			value, size := upToEightDigits(d.ahead[at:])
			if size == 8 {
				value, size = leadingDigits(d.ahead[at:])
			}
			if value < leastOf[size] || value < s.low || value > s.high {
				return d.misfit(start)
			}
			d.round.set(s.field, value)
			at += size
			continue
		}
		if d.at = at; !d.quickField(s.field) {
			return d.misfit(start)
		}
		at = d.at
	}
	if !t.end.begins(d.ahead[at:]) {
		return d.misfit(start)
	}
	d.at = at + len(t.end.text)
	return true
}

// quickField reads a value that is no number, the usual ones in the usual form first.
func (d *decoder) quickField(f field) bool {
	r := &d.round
	switch f {
	case fBetID:
		text, size := d.ahead[d.at:], len(r.betID) // as long as the one before
		if len(text) > size+2 && size > 0 && text[0] == '"' && text[size+1] == '"' && betIDBytes.spells(text[1:size+1]) {
			r.betID = text[1 : size+1]
			d.at += size + 2
			return true
		}
	case fWin:
		var size int
		r.win, size = quickBoolean(d.ahead[d.at:])
		d.at += size
		if size > 0 {
			return true
		}
	case fCreateTime:
		r.created = d.instant()
		return d.err == nil
	case fSettleTime:
		r.settled = d.instant()
		return d.err == nil
	}
	return d.field(f)
}

// misfit goes back to the start of the round, for it to be read in another way.
func (d *decoder) misfit(start int) bool {
	d.at, d.err = start, nil
	return false
}

// mark notes where the value stands that was just read, for a template: of a string that holds a number, the number.
func (d *decoder) mark(f field, start int) {
	end := d.at
	switch {
	case numerics[f].quoted:
		start, end = start+1, end-1
	case f == fRoundID && d.round.id == nil:
		f, start, end = fRoundNumber, start+len(d.pairPrefix), end-1
	}
	d.marks = append(d.marks, mark{f, start, end})
}

// learn makes a template of the round that was just read from start on. The template has its own copy of the text.
func (d *decoder) learn(start int) {
	text := bytes.Clone(d.text[start:d.at])
	own := newDecoder(nil)
	own.pairPrefix, own.text, own.learning = d.pairPrefix, text, true
	own.plainRound()
	t := &template{round: own.round}
	t.round.template = t
	at := 0
	for _, m := range own.marks {
		t.segments = append(t.segments, segment{newLiteral(text[at:m.start]), m.field, numerics[m.field]})
		at = m.end
	}
	t.end = newLiteral(text[at:])
	if len(d.templates) == maxTemplates {
		d.templates = d.templates[:maxTemplates-1]
	}
	d.templates = append([]*template{t}, d.templates...)
}
