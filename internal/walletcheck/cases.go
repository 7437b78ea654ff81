package walletcheck

import "slices"

// Cases returns all cases, in the order in which they are told.
func Cases() []Case {
	return slices.Concat(
		bookingCases(), duplicateCases(), answerCases(), lostCases(), transferCases(),
		leaseCases(), troubleCases(), crashCases(), clockCases(), loadCases(),
	)
}
