/// A change of an object, without its container and engine.
enum ObjectChange<Object: BaseCodableStoreable> {
    case saved(Object)
    case deleted(Object)

    var object: Object {
        switch self {
        case .saved(let object), .deleted(let object): object
        }
    }
}
