// Package auth holds who calls: tokens and their verification, the policy of
// every method, and the roles of peers; it must never import a service, a
// store or a game.
//
// Who the player is comes from the verified token alone, never from a
// request. A method that the policy does not name is refused.
package auth
