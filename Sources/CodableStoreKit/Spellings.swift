// The API is spelled as the library spells it that it stands in for. These are the words as a dictionary has them.

/// The same as ``WriteableCodableStore``.
public typealias WritableCodableStore = WriteableCodableStore
/// The same as ``AnyWriteableCodableStore``.
public typealias AnyWritableCodableStore = AnyWriteableCodableStore
/// The same as ``ObserverableCodableStore``.
public typealias ObservableCodableStore = ObserverableCodableStore
/// The same as ``AnyObserverableCodableStore``.
public typealias AnyObservableCodableStore = AnyObserverableCodableStore
/// The same as ``ObserverableCodableStoreSubscriptionBag``.
public typealias ObservableCodableStoreSubscriptionBag = ObserverableCodableStoreSubscriptionBag
/// The same as ``CodableStoreable``.
public typealias CodableStorable = CodableStoreable
/// The same as ``BaseCodableStoreable``.
public typealias BaseCodableStorable = BaseCodableStoreable

extension CodableStore {
    /// The same as ``writeable``.
    public var writable: AnyWriteableCodableStore<Object> { writeable }
}
