// Declarations that the page mentions but does not show.

func token() async throws -> String { "" }
