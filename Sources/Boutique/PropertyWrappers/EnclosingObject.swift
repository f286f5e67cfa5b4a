import Bodega
import Logging

/// Forwards the changes of a wrapper to the `objectWillChange` of the object that its property belongs to.
///
/// A wrapper calls ``forward(_:to:)`` when its property is accessed through an object, which it cannot know earlier.
final class EnclosingObject: Sendable {

    /// The types that were reported as unable to publish changes.
    private static let reported = FirstOccurrences<ObjectIdentifier>()

    private let logger: Logger

    init(logger: Logger = boutiqueLogger) {
        self.logger = logger
    }

    private struct Attachment {
        weak var object: AnyObject?
        var subscription: AnyCancellable?
    }

    // Usually one. The copies of a wrapper that is passed to several objects share this instance.
    private let attachments = Locked<[ObjectIdentifier: Attachment]>([:])

    /// Fires the `objectWillChange` of an object whenever a publisher emits. Later calls with the object do nothing.
    ///
    /// - Parameters:
    ///   - changes: Emits before each change.
    ///   - object: The object, which is not retained. Does nothing unless it is an `ObservableObject` whose publisher
    ///     is an `ObservableObjectPublisher` or a `PassthroughSubject<Void, Never>`.
    func forward(_ changes: @autoclosure () -> some Publisher<Void, Never>, to object: Any) {
        let enclosing = object as AnyObject
        let id = ObjectIdentifier(enclosing)
        let isFirst = attachments.withLock { attachments in
            // The entry may be that of a deallocated object with the same address.
            if attachments[id]?.object != nil { return false }
            attachments = attachments.filter { $0.value.object != nil }
            attachments[id] = Attachment(object: enclosing)
            return true
        }
        // The object's publisher may be user code that calls this method again, so no lock is held.
        guard isFirst, let object = object as? any ObservableObject, let send = sender(for: object) else { return }
        let subscription = changes().sink(receiveValue: send)
        attachments.withLock { $0[id]?.subscription = subscription }
    }

    /// A closure that fires the publisher of an object.
    private func sender(for object: any ObservableObject) -> (() -> Void)? {
        let publisher = object.objectWillChange as Any
        if let subject = publisher as? PassthroughSubject<Void, Never> { return { subject.send() } }
        guard let publisher = publisher as? ObservableObjectPublisher else { return nil }
        #if !canImport(Combine)
        // For an object without a @Published property, OpenCombine returns a new publisher for each call, so no
        // subscriber would receive the changes.
        let type = type(of: object as Any)
        if publisher !== object.objectWillChange as? ObservableObjectPublisher,
            Self.reported.insert(ObjectIdentifier(type))
        {
            logger.warning(
                """
                Objects of this type cannot publish the changes of their stored properties. Add a @Published property \
                or `let objectWillChange = ObservableObjectPublisher()`.
                """,
                metadata: ["type": "\(type)"]
            )
        }
        #endif
        return { publisher.send() }
    }
}
