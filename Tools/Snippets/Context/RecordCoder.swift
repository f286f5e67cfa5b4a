// Declarations that the page mentions but does not show.

struct Quote: Codable { var id, text: String }
let quote = Quote(id: "", text: "")
