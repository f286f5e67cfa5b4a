// The API has the spellings of the original CodableStoreKit. These aliases have the common spellings.

/// An alias of ``WriteableCodableStore``.
public typealias WritableCodableStore = WriteableCodableStore
/// An alias of ``AnyWriteableCodableStore``.
public typealias AnyWritableCodableStore = AnyWriteableCodableStore
/// An alias of ``ObserverableCodableStore``.
public typealias ObservableCodableStore = ObserverableCodableStore
/// An alias of ``AnyObserverableCodableStore``.
public typealias AnyObservableCodableStore = AnyObserverableCodableStore
/// An alias of ``ObserverableCodableStoreSubscriptionBag``.
public typealias ObservableCodableStoreSubscriptionBag = ObserverableCodableStoreSubscriptionBag
/// An alias of ``CodableStoreable``.
public typealias CodableStorable = CodableStoreable
/// An alias of ``BaseCodableStoreable``.
public typealias BaseCodableStorable = BaseCodableStoreable

extension CodableStore {
    /// An alias of ``writeable``.
    public var writable: AnyWriteableCodableStore<Object> { writeable }
}
