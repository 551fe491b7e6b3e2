//! Renamed cover properties. Waivers may still use the labels of earlier versions.

#[rustfmt::skip]
const RENAMED: &[(&str, &str)] = &[
    ("EveryClusterResponseHeld", "ClusterResponsesFull"),
    ("ClusterRoomIsGone", "ClusterRoomExhausted"),
    ("ClusterReservesAsTaken", "ClusterReserveWithPop"),
    ("ClusterPlacesWrap", "ClusterHeadWraps"),
    ("ClusterPassesHeldWarp", "ClusterPassWhileWarpResponseWaits"),
    ("ResponseFollowsAtOnce", "ResponseTakenAsNextPassArrives"),
    ("GathersBetweenFirstAndLast", "MiddlePassOfRequest"),
    ("SuspensionWaitsForResponse", "SuspensionStalledByResponse"),
    ("SuspendedAfterResponse", "SuspensionAsResponseIsTaken"),
    ("AnsweredAsTableIsFull", "TryWaitAnsweredTableFull"),
    ("WriteAsOthersAreInside", "WriteWithOtherSlotsInFlight"),
    ("EntersAsItsSlotIsWritten", "EnterAsSlotIsWritten"),
    ("TwoEnterOneSlot", "WarpAndClusterEnterSameSlot"),
    ("TwoLeaveOneSlot", "LeaveAndWakeUpOfSameSlot"),
    ("EntersAsAnotherLeaves", "EnterAndLeaveOfSameSlot"),
    ("OfferedAsFullIsPopped", "OfferedAndPoppedWhileFull"),
    ("PushedAsPopped", "PushedAndPopped"),
    ("WarpHasItsTurn", "WarpTurnWhileClusterWaits"),
    ("ClusterHasItsTurn", "ClusterTurnWhileWarpWaits"),
    ("WarpPassesHeldCluster", "WarpOvertakesBlockedCluster"),
    ("PostedPassesHeldResponses", "PostedTakenWithoutResponseRoom"),
    ("NextFollowsAtOnce", "RequestsBackToBack"),
    ("HeldBetweenPasses", "HeldByHazardBetweenPasses"),
    ("NoLaneTakesPart", "RequestWithoutLanes"),
    ("OnePassForEachLane", "OnePassPerLane"),
    ("LanesShareARead", "LanesShareRead"),
    ("LanesShareAStore", "LanesShareStore"),
    ("SpinnersLose", "SpinLanesNotSelected"),
    ("EnterAsOthersAreTaken", "EnterAndTakeTogether"),
    ("EveryEntryHeld", "LastFreeEntryFilled"),
    ("EntriesWrap", "TailWraps"),
    ("StoresMeetInAWord", "StoresShareWord"),
    ("ForwardsTheYoungerOfTwo", "ForwardsYoungerOfTwoWrites"),
    ("ForwardsAPartOfAnAccess", "ForwardsPartOfAccess"),
    ("ForwardsAnObject", "ForwardsMbarrierObject"),
    ("Holds", "HazardWithStage"),
    ("LetsAReaderBy", "ReaderCausesNoHazard"),
    ("HoldsForTwo", "HazardWithSeveralStages"),
    ("HoldsALoad", "HazardHoldsLoad"),
    ("HoldsAStore", "HazardHoldsStore"),
    ("HoldsAnObject", "HazardHoldsMbarrier"),
    ("Stalls", "StalledInStage"),
    ("EveryStageFull", "AllStagesFull"),
    ("SomeWordsMatch", "CompareHitsSomeBanks"),
    ("CompletesSeveral", "CompletesSeveralPhases"),
    ("CompletesBeforeAnotherPassToIt", "CompletionBeforePassToObject"),
    ("CompletesBeforeAWaitForIt", "CompletionBeforeTryWaitOnObject"),
    ("CompletionStalls", "CompletionStalled"),
    ("WriteStalls", "WriteStalled"),
    ("WokenInAStall", "WakeUpDuringStall"),
    ("CtaWriteWaitsForWaitersAlone", "CtaWriteWaitsForWaitersOnly"),
    ("EveryWaiterSuspended", "AllWaitersSuspended"),
    ("EntersAsAnotherIsAnswered", "EnterDuringAnswer"),
    ("EntersAsAnotherExpires", "EnterDuringTimeout"),
    ("EntersForOneCycle", "EnterWithLimitOfOneCycle"),
    ("WakesInItsLastCycle", "CompletionInLastCycle"),
    ("WakesAsAnotherExpires", "WakeUpAndTimeoutTogether"),
    ("WakesPastAnother", "WakeUpOfSomeWaiters"),
    ("WakesSeveral", "WakeUpOfSeveralWaiters"),
    ("ExpiresSeveral", "TimeoutOfSeveralWaiters"),
    ("AnswerHeldUp", "AnswerStalled"),
    ("EverybodyHeldUp", "AllWaitersStalled"),
    ("AnswersInTurn", "AnswerInRoundRobinOrder"),
    ("AnswersWrap", "AnswerOrderWraps"),
];

/// Replaces an old label in `pattern` by the new one. The pattern is `module.Label` or `module.Label[N]`.
pub(super) fn current(pattern: String) -> String {
    let Some((module, rest)) = pattern.split_once('.') else { return pattern };
    let label = rest.split('[').next().unwrap_or(rest);
    match RENAMED.iter().find(|(old, _)| *old == label) {
        Some((_, new)) => format!("{module}.{new}{}", &rest[label.len()..]),
        None => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_become_names_of_the_rtl() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../rtl");
        let files = std::fs::read_dir(folder).expect("the folder of the RTL");
        let text: String = files
            .map(|file| file.expect("a file").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "sv"))
            .map(|path| std::fs::read_to_string(path).expect("a source"))
            .collect();
        let is_cover = |label: &str| text.contains(&format!("`ATOMS_COVER({label},"));
        for (old, new) in RENAMED {
            assert!(is_cover(new), "{new} is no cover property");
            assert!(!is_cover(old), "{old} still is one");
        }
        assert_eq!(current("atoms_pipe.Holds[3]".into()), "atoms_pipe.HazardWithStage[3]");
        assert_eq!(current("atoms_pipe.HazardWithStage[*]".into()), "atoms_pipe.HazardWithStage[*]");
    }
}
