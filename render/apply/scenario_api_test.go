// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import "testing"

// The scenarios run on a real server here, and on a simulated one in
// scenario_test.go.

func TestAPIServerStagesAndInventory(t *testing.T) { stagesAndInventory(t, newRig) }

func TestAPIServerHoldsAShardUntilItIsDrained(t *testing.T) { holdsAShardUntilItIsDrained(t, newRig) }

func TestAPIServerPolicyAllowLetsShardsGo(t *testing.T) { policyAllowLetsShardsGo(t, newRig) }

func TestAPIServerPrunesOnlyWhatIsRecordedAndLabelled(t *testing.T) {
	prunesOnlyWhatIsRecordedAndLabelled(t, newRig)
}

func TestAPIServerAnACLAloneRecordsAndPrunesNothing(t *testing.T) {
	anACLAloneRecordsAndPrunesNothing(t, newRig)
}

func TestAPIServerDeletesAllButClaims(t *testing.T) { deletesAllButClaims(t, newRig) }

func TestAPIServerKilledAnywhereGoesOn(t *testing.T) { killedAnywhereGoesOn(t, newRig) }

func TestAPIServerKilledAndReverted(t *testing.T) { killedAndReverted(t, newRig) }

func TestAPIServerKilledDeleteGoesOn(t *testing.T) { killedDeleteGoesOn(t, newRig) }

func TestAPIServerWaitsForADrain(t *testing.T) { waitsForADrain(t, newRig) }

func TestAPIServerAStrangerSinceThePlanIsRefused(t *testing.T) { strangerSinceThePlan(t, newRig) }

func TestAPIServerOwnersAreRewrittenAsTheyWereRead(t *testing.T) { ownersSinceTheReading(t, newRig) }

func TestAPIServerASecondRunOfARemovalIsAConflict(t *testing.T) { aSecondRunOfARemoval(t, newRig) }

func TestAPIServerStaysRecordedUntilItIsGone(t *testing.T) { staysRecordedUntilItIsGone(t, newRig) }

func TestAPIServerDrainsBeforeItShrinks(t *testing.T) { drainsBeforeItShrinks(t, newRig) }

func TestAPIServerADrainThatFailsChangesNothing(t *testing.T) { aDrainThatFails(t, newRig) }

func TestAPIServerADrainGoesOn(t *testing.T) { aDrainGoesOn(t, newRig) }

func TestAPIServerWhatAShardNoLongerHasGoes(t *testing.T) { whatAShardNoLongerHasGoes(t, newRig) }
