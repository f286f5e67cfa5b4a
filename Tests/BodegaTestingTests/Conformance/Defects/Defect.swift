import BodegaTesting

/// A defect of an engine.
enum Defect: String, CaseIterable, Sendable {
    case startsWithAnItem, throwsForAbsentItems, forgetsEmptyValues, removesAllForNoKeys, reportsAbsenceForFailure
    case keepsTheTailOfLongerValues, firstDuplicateWins, removesTheNeighbor, throwsWhenRemovingAbsent
    case removeAllKeepsTheLast
    case sortsByKey, overwritingMovesToTheEnd, remembersThePlace, readsInStoredOrder, answersDuplicatesOnce
    case removesBeforeWriting, removesAllFirst, tearsBatches, limitsTheKeysOfACall
    case losesKinds, takesRawValuesForKeys, takesValuesForKeys, ignoresCase, truncatesKeysAtNul, truncatesNamesAtNul,
        composesNames
    case truncatesLargeValues, keepsWholeBufferOfSlices
    case losesTheLastPart, streamingMovesToTheEnd, keepsFailedStreams, streamsWhatIsThereLater
    case hasDatesOfItsOwn, resetsCreatedAt, batchesResetCreatedAt, remembersCreatedAt
    case losesConcurrentWrites, writesInHalves, showsHalfBatches
    case forgetsAtReopening, losesKindsAtReopening, roundsDatesAtReopening, sortsAtReopening

    /// The check that must find it.
    var check: StorageEngineConformance.Check {
        switch self {
        case .startsWithAnItem: .aFreshEngineIsEmpty
        case .throwsForAbsentItems: .absentItemsAreAbsent
        case .forgetsEmptyValues: .readingFormsAgree
        case .removesAllForNoKeys: .emptyListsDoNothing
        case .reportsAbsenceForFailure: .failureIsNotAbsence
        case .keepsTheTailOfLongerValues: .overwritingReplaces
        case .firstDuplicateWins: .theLastDuplicateWins
        case .removesTheNeighbor: .removalsRemoveTheirKeysOnly
        case .throwsWhenRemovingAbsent: .removingAbsentItemsIsFine
        case .removeAllKeepsTheLast: .removingAllLeavesNothing
        case .sortsByKey: .itemsComeInInsertionOrder
        case .overwritingMovesToTheEnd: .overwritingKeepsThePlace
        case .remembersThePlace: .writingAgainMovesToTheEnd
        case .readsInStoredOrder: .readingFollowsTheKeys
        case .answersDuplicatesOnce: .duplicateKeysAreAnsweredTwice
        case .removesBeforeWriting: .batchesApplyInOrder
        case .removesAllFirst: .batchesCanRemoveAllInTheMiddle
        case .tearsBatches: .failedBatchesChangeNothing
        case .limitsTheKeysOfACall: .manyItemsFitOneCall
        case .losesKinds: .keysComeBackEqual
        case .takesRawValuesForKeys, .takesValuesForKeys: .kindsOfKeysAreDistinct
        case .ignoresCase: .similarKeysDiffer
        case .truncatesKeysAtNul: .extremeKeysWork
        case .truncatesNamesAtNul, .composesNames: .collectionsDiffer
        case .truncatesLargeValues: .valuesOfAllSizesComeBack
        case .keepsWholeBufferOfSlices: .allBytesComeBack
        case .losesTheLastPart: .streamsComeBack
        case .streamingMovesToTheEnd: .streamedItemsAreItems
        case .keepsFailedStreams: .failedStreamsChangeNothing
        case .streamsWhatIsThereLater: .streamsAreSnapshots
        case .hasDatesOfItsOwn: .datesAreTheItemsOwn
        case .resetsCreatedAt: .createdAtSurvivesOverwriting
        case .batchesResetCreatedAt: .batchesKeepCreatedAt
        case .remembersCreatedAt: .writingAgainResetsCreationDate
        case .losesConcurrentWrites: .concurrentWritersLoseNothing
        case .writesInHalves: .valuesAreNeverTorn
        case .showsHalfBatches: .batchesAreNeverHalfVisible
        case .forgetsAtReopening: .itemsSurviveReopening
        case .losesKindsAtReopening: .keysSurviveReopening
        case .roundsDatesAtReopening: .datesSurviveReopening
        case .sortsAtReopening: .orderSurvivesReopening
        }
    }
}
