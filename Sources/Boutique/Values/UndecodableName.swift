/// Where bytes that could not be decoded are kept when a new value takes their place.
enum UndecodableName {
    /// The name for those of a value that come after `number` others.
    static func name(of value: String, _ number: Int) -> String {
        number == 0 ? "\(value).undecodable" : "\(value).undecodable-\(number + 1)"
    }
}
