package redisledger

// ClaimHome tells the tests in which partition a claim is recorded.
func ClaimHome(operator, id string) int {
	partition, _ := claimHome(operator, id)
	return partition
}
