/// An engine that tells what others change in it: other instances, processes, machines.
///
/// The changes name keys and hold no data: who follows them reads what is stored when it gets there, which is never older
/// than the change.
package protocol ProcessObservableEngine: StorageEngine {

    /// What others change from now on. The changes through this instance are left out.
    ///
    /// It throws when changes may have been missed and cannot be followed any longer.
    func changes() -> AsyncThrowingStream<ProcessChange, any Error>
}

/// What others have changed in an engine.
package enum ProcessChange: Sendable, Hashable {
    /// Items were written or removed under these keys.
    case items([CacheKey])
    /// Anything may have changed.
    case everything
}
