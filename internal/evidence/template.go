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
	end      []byte
}

type segment struct {
	literal []byte // what stands before the value
	field   field
}

// maxTemplates is enough for four games in two currencies.
const maxTemplates = 8

// nextRound reads the round at the cursor into d.round.
func (d *decoder) nextRound() {
	for i, t := range d.templates {
		if d.fits(t) {
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

// fits reads the round if it has the template's form, else it leaves the cursor where it is.
func (d *decoder) fits(t *template) bool {
	start := d.at
	if d.round.template != t {
		d.round = t.round
	}
	for i := range t.segments {
		if !d.expect(t.segments[i].literal) || !d.field(t.segments[i].field) {
			d.at, d.err = start, nil
			return false
		}
	}
	if !d.expect(t.end) {
		d.at = start
		return false
	}
	return true
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
		t.segments = append(t.segments, segment{text[at:m.start], m.field})
		at = m.end
	}
	t.end = text[at:]
	if len(d.templates) == maxTemplates {
		d.templates = d.templates[:maxTemplates-1]
	}
	d.templates = append([]*template{t}, d.templates...)
}
