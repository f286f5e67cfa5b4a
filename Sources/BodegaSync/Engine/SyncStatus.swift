public import Foundation

/// The state of a synchronization, see ``StorageSync/status``.
public struct SyncStatus: Sendable, Hashable {
    /// Whether it is paused, see ``StorageSync/pause()``.
    public var isPaused = false
    /// The number of items with changes that the remote database does not have yet, without those that are parked.
    public var pending = 0
    /// The number of items whose changes are parked, because the remote database refuses them.
    public var parked = 0
    /// When everything that the remote database has was last read; `nil` if it was not since the program began.
    public var lastSuccess: Date?
    /// Why the last attempt to reach the remote database has failed, or why it takes no changes now although it can be
    /// reached; `nil` if neither is so.
    public var failure: SyncFailure?
    /// Whether the credentials are not accepted.
    public var needsCredentials = false

    /// Whether the remote database has all changes, but those that are parked, and its own were read.
    public var isSettled: Bool { pending == 0 && lastSuccess != nil && failure == nil }
}

/// How a database is synchronized.
public struct SyncOptions: Sendable {
    /// How versions are merged that this replica and others have changed; by default ``SyncConflictPolicy/laterWins``.
    public var policy = SyncConflictPolicy.laterWins
    /// Whether synchronization begins paused, until ``StorageSync/resume()``.
    ///
    /// Use it if transactions change several collections: what is read from the remote database while only some of them
    /// are open is a part of what others have changed together.
    public var startsPaused = false
    /// The upper bound of the random delays after failures; by default 8 seconds.
    public var maximumDelay = Duration.seconds(8)
    /// The time between pulls from a remote database that does not signal its changes; by default 30 seconds.
    public var pollInterval = Duration.seconds(30)
    /// Called when the credentials are not accepted. It gets new ones, for example by a login, and returns whether the
    /// remote database accepts those. If it does not, this is called again, after delays that grow. By default, the old
    /// ones are tried again after a delay.
    public var reauthorize: @Sendable () async -> Bool = { false }

    /// Creates the default options.
    public init() {}
}
