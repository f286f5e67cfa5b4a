/// A reference that does not keep its object alive.
package final class Weak<Object: AnyObject> {
    package private(set) weak var object: Object?

    /// The identity of the object, also after its deallocation. Only for comparisons.
    package let identity: ObjectIdentifier

    package init(_ object: Object) {
        self.object = object
        identity = ObjectIdentifier(object)
    }
}

// @unchecked because `object` is set once; `weak let` needs a newer compiler than the package.
extension Weak: @unchecked Sendable where Object: Sendable {}
