import Bodega
import Logging
#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Makes the object that a wrapped property belongs to announce the changes of what the wrapper shows.
///
/// A wrapper calls ``forward(_:to:)`` when its property is accessed through an object, the first moment at which it gets
/// to know the object.
final class EnclosingObject: Sendable {

    private struct Attachment {
        weak var object: AnyObject?
        var subscription: AnyCancellable?
    }

    // Usually one. Copies of a wrapper that was handed to several objects share this.
    private let attachments = Locked<[ObjectIdentifier: Attachment]>([:])

    /// Fires the `objectWillChange` of an object whenever a publisher emits. Later calls with the object do nothing.
    ///
    /// - Parameters:
    ///   - changes: Emits before each change.
    ///   - object: The object, which is not retained. Nothing happens if it is no `ObservableObject`, or one whose
    ///     publisher is neither of the usual kind nor a subject without values.
    func forward(_ changes: @autoclosure () -> some Publisher<Void, Never>, to object: Any) {
        let enclosing = object as AnyObject
        let id = ObjectIdentifier(enclosing)
        let isFirst = attachments.withLock { attachments in
            // Another object can have had the same address.
            if attachments[id]?.object != nil { return false }
            attachments = attachments.filter { $0.value.object != nil }
            attachments[id] = Attachment(object: enclosing)
            return true
        }
        // The object's publisher may be code of the user's, which may come here again, so no lock is held.
        guard isFirst, let object = object as? any ObservableObject, let send = Self.sender(for: object) else { return }
        let subscription = changes().sink(receiveValue: send)
        attachments.withLock { $0[id]?.subscription = subscription }
    }

    /// What makes an object announce a change.
    private static func sender(for object: any ObservableObject) -> (() -> Void)? {
        let publisher = object.objectWillChange as Any
        if let subject = publisher as? PassthroughSubject<Void, Never> { return { subject.send() } }
        guard let publisher = publisher as? ObservableObjectPublisher else { return nil }
        #if !canImport(Combine)
        // OpenCombine makes a new one at each call for an object without a @Published property, so nobody could listen.
        if publisher !== object.objectWillChange as? ObservableObjectPublisher {
            boutiqueLogger.warning(
                """
                An object cannot announce the changes of its stored properties. Give it a @Published property or \
                `let objectWillChange = ObservableObjectPublisher()`.
                """,
                metadata: ["object": "\(type(of: object))"]
            )
        }
        #endif
        return { publisher.send() }
    }
}
