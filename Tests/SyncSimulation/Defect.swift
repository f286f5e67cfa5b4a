/// A defect that a simulation can have, to see that its checks find it.
///
/// The first eleven are ten complaints of users of other synchronization libraries.
package enum Defect: String, CaseIterable, Sendable {
    /// No new version is shown while changes wait (powersync.dart 307).
    case pullsWaitForQueue
    /// An accepted change is shown as the server had it before (TanStack/db 1323).
    case ownWritesRevert
    /// A change is dropped after a temporary error (sqlite-data 432).
    case droppedOnTemporaryError
    /// Of a removal and an insertion of one key, only the removal is sent (sqlite-data 418).
    case insertionAfterRemovalIsLost
    /// One of two versions is taken at random (sqlite-data 354).
    case randomVersionWins
    /// A change without an answer is made again (TanStack/db 921).
    case appliedTwice
    /// A refused change is sent again for ever (1767).
    case refusedIsRepeated
    /// A refused change ends sending, as if it had succeeded (mono 6326).
    case refusedEndsSending
    /// What a pull brings while a request is on its way is ignored (rxdb 5571).
    case pullDuringPushIgnored
    /// A change that is made during an upload is lost with its end (WatermelonDB 1374).
    case editDuringUploadLost
    /// Changes between a snapshot and the log are lost (electric 4773).
    case seam

    case cursorBeforeItems
    case settledByEarlierPull
    case newIdentifierOnRepetition
    case noConditions
    case snapshotRemovesPending
    case snapshotKeepsRemoved
    case transactionDivided
    case transactionPulledInParts
    case requestsForgottenInCrash
    case notFenced
    case voidReceiptsIgnored
    case conflictsForgotten
    case localVersionWins
    case remoteVersionWins
    case unknownMembersDropped
    case authorizationForgotten
    case timersForgotten
    case reconnectionIsNoSignal
    case removalsIgnored
    case discardedStaysVisible
    case existingNotSent
    case tornTransaction
    case editReplacesSent
    case lossesNotReported
    case remoteLossesNotReported
    case answersOfPullsReordered
    case parkedHoldsUpOthers
    case parkedForgotten
    case pullsOverlap
    case logNotSearched
    case sentBeforePull
    case requestsOfOthersForgotten
    case requestsOfOthersWait
    case unreadNotTakenOver
    case halfSettled
}
