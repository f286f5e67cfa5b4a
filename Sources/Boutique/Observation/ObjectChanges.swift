/// The holder of an object's change publisher, which can be read on any thread.
final class ObjectChanges: @unchecked Sendable {
    // @unchecked because the publisher guards its state with a lock, but is not declared Sendable in every module.
    let publisher = ObservableObjectPublisher()
}

#if !canImport(Combine)
// A class without @Published properties needs a publisher of its own where there is no Combine. With this conformance
// `let objectWillChange = ObservableObjectPublisher()` is enough, also in classes on the main actor. The conformance is
// correct: the publisher guards its mutable state with a lock.
extension ObservableObjectPublisher: @retroactive @unchecked Sendable {}
#endif
