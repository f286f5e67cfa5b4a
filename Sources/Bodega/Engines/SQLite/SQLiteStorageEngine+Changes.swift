extension SQLiteStorageEngine: ProcessObservableEngine {

    /// What others in this process change in the collection, through engines that share this one's file: those made by
    /// ``collection(named:)``, and stores of CodableStoreKit.
    package func changes() -> AsyncThrowingStream<ProcessChange, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ProcessChange.self)
        let number = core.changes.follow(
            table,
            besides: ObjectIdentifier(self),
            .operations { continuation.yield(ProcessChange($0)) }
        )
        continuation.onTermination = { [weak feed = core.changes, table] _ in feed?.unfollow(table, number) }
        return stream
    }
}

extension ProcessChange {
    fileprivate init(_ operations: [StorageOperation]) {
        var keys: [CacheKey] = []
        for operation in operations {
            switch operation {
            case .write(let key, _), .remove(let key): keys.append(key)
            case .removeAll:
                self = .everything
                return
            }
        }
        self = .items(keys)
    }
}
