/// A type whose objects a ``CodableStore`` can store, with methods that save, find and observe them.
///
/// ```swift
/// extension User: CodableStoreable {
///     static var codableStoreIdentifier: KeyPath<User, String> { \.id }
/// }
///
/// try user.save()
/// let users = try User.getCollection()
/// ```
///
/// Each of these methods calls the method of the same name on a ``CodableStore`` with the given container and engine. A
/// type without them conforms to ``BaseCodableStoreable``.
public protocol CodableStoreable: BaseCodableStoreable {}
