package import Foundation

// What the machine takes in and asks for.
extension SyncMachine {

    /// What has happened.
    package enum Event: Sendable {
        /// Synchronization begins, or goes on after ``pause``. There may be requests from before without an outcome.
        case resume([SentRequest])
        /// Synchronization pauses. What is on its way comes to its end.
        case pause
        /// Everything is tried immediately.
        case hurry
        /// The outbox may have new changes.
        case outboxChanged
        /// The remote database may have new changes.
        case remoteChanged
        /// A request was taken from the outbox; `nil` if there was none. And all requests without an outcome, those of
        /// other programs included, and whether changes wait for others, which another program may take back or send.
        case prepared(UUID?, all: [SentRequest], waits: Bool)
        /// A request was answered.
        case answered(UUID, SyncAnswer)
        /// A request was not answered: it may be applied later.
        case unanswered(UUID, Failure)
        /// Whether a request was applied. If not, it never will be.
        case fenced(UUID, wasApplied: Bool)
        /// A pull has ended, and everything is stored that can be read. It is tried again if some can't be.
        case pulled(missing: Failure?)
        /// A pull has failed.
        case pullFailed(Failure)
        /// The local database has failed. What was begun is tried again.
        case storageFailed(Storage, Failure)
        /// The app has new credentials, or has failed to get them.
        case reauthorized(Bool)
        /// The time of ``Effect/wait(until:)`` has come.
        case elapsed
    }

    /// A use of the local database.
    package enum Storage: Sendable { case preparing, pulling }

    /// Why there was no answer.
    package struct Failure: Hashable, Sendable {
        /// The error.
        package var error: SyncFailure
        /// The credentials are not accepted.
        package var isUnauthorized = false
        /// The remote database has answered that it can't apply the change now. Nothing was done, and nothing is wrong
        /// with the change.
        package var isPostponed = false
        /// Another program reads the same.
        package var isOvertaken = false
        /// The shortest time until the next attempt that the server asks for.
        package var retryAfter: Duration?

        /// Creates a failure.
        package init(
            _ error: SyncFailure, isUnauthorized: Bool = false, isPostponed: Bool = false, retryAfter: Duration? = nil
        ) {
            (self.error, self.isUnauthorized) = (error, isUnauthorized)
            (self.isPostponed, self.retryAfter) = (isPostponed, retryAfter)
        }
    }

    /// What is to be done. Each effect but ``wait(until:)`` is answered by an event.
    package enum Effect: Hashable, Sendable {
        /// Take changes from the outbox, at most those of so many groups, after ``RestingItems/wake()`` if so.
        case prepare(limit: Int, waking: Bool)
        /// Send a request.
        case send(UUID)
        /// Ensure that a request has been applied or never will be.
        case fence(UUID)
        /// Read what has changed, and end requests.
        case pull(settling: [UUID: SyncAnswer])
        /// Ask the app for credentials.
        case reauthorize
        /// Report ``Event/elapsed`` at this time, and at no earlier one that was asked for.
        case wait(until: Duration)
    }

    /// The times and numbers.
    package struct Limits: Sendable {
        /// The upper bound of the first delay after a failure.
        package var firstDelay = Duration.milliseconds(500)
        /// The upper bound of each delay.
        package var maximumDelay = Duration.seconds(8)
        /// The upper bound of the delay after pulls that other programs have overtaken. They bring what is new, too,
        /// but would never come to an end if two began again and again.
        package var maximumOvertakenDelay = Duration.seconds(300)
        /// The upper bound of the time that a server can ask for.
        package var maximumRetryAfter = Duration.seconds(3_600)
        /// The time after which a request of another program is sent again, which may have ended.
        package var otherPatience = Duration.seconds(8)
        /// The time after which it is looked whether changes still wait for those of another program.
        package var waitingPatience = Duration.seconds(30)
        /// The time after which a request without an answer no longer holds up others.
        package var patience = Duration.milliseconds(500)
        /// The maximum number of requests that are on their way.
        package var maximumRequests = 4
        /// The maximum number of groups of changes in a request.
        package var maximumGroups = 128
        /// The number of failures of a request, while pulls succeed, after which it is fenced.
        package var maximumFailures = 2
        /// The time after which items are sent again that were not answered while no others were.
        package var rest = Duration.seconds(60)
        /// The number of conflicts in a row after which there is a delay before the next request, up to ``firstDelay``.
        package var maximumConflicts = 4
        /// The time between pulls if the remote database does not signal its changes.
        package var pollInterval: Duration?

        /// Creates the default limits.
        package init() {}
    }
}
