"""What several pages read besides the text of the sentence box: corpora, sentences, documents."""
