// SPDX-FileCopyrightText: The valkey-render Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import "testing"

func TestStagesAndInventory(t *testing.T) { stagesAndInventory(t, newFake) }

func TestHoldsAShardUntilItIsDrained(t *testing.T) { holdsAShardUntilItIsDrained(t, newFake) }

func TestPolicyAllowLetsShardsGo(t *testing.T) { policyAllowLetsShardsGo(t, newFake) }

func TestPrunesOnlyWhatIsRecordedAndLabelled(t *testing.T) {
	prunesOnlyWhatIsRecordedAndLabelled(t, newFake)
}

func TestAnACLAloneRecordsAndPrunesNothing(t *testing.T) {
	anACLAloneRecordsAndPrunesNothing(t, newFake)
}

func TestDeletesAllButClaims(t *testing.T) { deletesAllButClaims(t, newFake) }

func TestKilledAnywhereGoesOn(t *testing.T) { killedAnywhereGoesOn(t, newFake) }

func TestKilledAndReverted(t *testing.T) { killedAndReverted(t, newFake) }

func TestKilledDeleteGoesOn(t *testing.T) { killedDeleteGoesOn(t, newFake) }

func TestWaitsForADrain(t *testing.T) { waitsForADrain(t, newFake) }

func TestAStrangerSinceThePlanIsRefused(t *testing.T) { strangerSinceThePlan(t, newFake) }

func TestOwnersAreRewrittenAsTheyWereRead(t *testing.T) { ownersSinceTheReading(t, newFake) }

func TestStaysRecordedUntilItIsGone(t *testing.T) { staysRecordedUntilItIsGone(t, newFake) }

func TestDrainsBeforeItShrinks(t *testing.T) { drainsBeforeItShrinks(t, newFake) }

func TestADrainThatFailsChangesNothing(t *testing.T) { aDrainThatFails(t, newFake) }

func TestADrainGoesOn(t *testing.T) { aDrainGoesOn(t, newFake) }

func TestWhatAShardNoLongerHasGoes(t *testing.T) { whatAShardNoLongerHasGoes(t, newFake) }
